"""Why pods fit nowhere, and what is not modeled, in sentences."""
