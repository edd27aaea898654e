"""What several scenarios in Python share."""
