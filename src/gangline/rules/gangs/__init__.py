"""What is a gang's: its members, and the requests that bind them."""
