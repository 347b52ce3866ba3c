print("EarthquakeAlerts")
