"""The part of the Common Expression Language that device selectors use."""
