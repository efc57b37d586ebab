"""The cluster as columns: a value that changes cheaply.

What numbers stand for, everywhere in the scheduler:

- *node*, *position*: where a node stands in the snapshot's order (`Nodes`); every column over nodes is in this order.
- *place*: where something stands among those asked about, such as a node of ``nodes: Positions``.
- *kind*: the number of a `PodKind` in the cluster's `KindTable`; pods of one kind are alike to every plugin.
- *code*: a distinct value of one label key (`LabelColumn`), which is a domain where the key is a topology key; ABSENT
  (-1) at nodes without the label. Codes of two keys have nothing to do with each other.
- *rank*: where a node stands when names are sorted; equal scores are told apart by it.
- *row*: in `Verdicts`, 0 where a node passes, else a 1-based index into its table of statuses.
"""
