print("petrel")
