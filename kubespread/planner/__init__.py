"""The questions kubespread answers, and the reports that answer them."""
