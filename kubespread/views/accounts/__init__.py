"""Each report as headline, answer, bars and tables, from which pages and markdown are written."""
