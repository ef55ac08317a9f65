"""What serving pages to many needs: `kept_pages.py` makes a page once for all who look at the same, `live.py` tells
browsers when to look again.

Below service.py. Nothing here knows what a page says."""
