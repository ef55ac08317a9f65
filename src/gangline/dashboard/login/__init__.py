"""Who looks at the pages, and what they may see: `scope.py` narrows a view to it, `reviews.py` asks the cluster,
`sessions.py` remembers who logged in, `gates.py` lets requests in, `login_view.py` is the page that asks for a token.

Before service.py's pages. Whoever logs in sees no more than the cluster's own RBAC lets them list. Nothing here gives
anybody a right, and no token is ever written anywhere."""
