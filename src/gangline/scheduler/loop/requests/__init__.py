"""BindRequests of the scheduler: written, looked up, removed when they are over."""
