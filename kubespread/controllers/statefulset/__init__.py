"""StatefulSets: their pods, and how they are rolled out."""
