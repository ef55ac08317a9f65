"""What is a gang's: its members and priority, when it starts, the requests that bind it, and who evicted it last."""
