"""The cluster as columns: a value that changes cheaply.

What numbers mean, everywhere in the scheduler:

- *node*, *position*: a node's index in the snapshot's order (`Nodes`); every column over nodes is in this order.
- *place*: the index of something in an argument, such as of a node in ``nodes: Positions``.
- *kind*: the number of a `PodKind` in the cluster's `KindTable`; pods of one kind are alike to every plugin.
- *code*: a distinct value of one label key (`LabelColumn`), which is a domain where the key is a topology key; ABSENT
  (-1) at nodes without the label. Codes of different keys are unrelated.
- *rank*: a node's index when names are sorted; it breaks ties of equal scores.
- *row*: in `Verdicts`, 0 where a node passes, else a 1-based index into its table of statuses.
"""
