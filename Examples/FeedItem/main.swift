print("FeedItem")
