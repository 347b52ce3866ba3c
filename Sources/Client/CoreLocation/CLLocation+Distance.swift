extension CLLocation {
  /// The mean radius of the earth (IUGG), in metres.
  private static let earthRadius = 6_371_008.7714

  /// The great-circle distance to `location` in metres, on a sphere of the earth's mean radius.
  ///
  /// The haversine formula: at most 0.6 % from the distance on the ellipsoid. Altitude is ignored.
  public func distance(from location: CLLocation) -> CLLocationDistance {
    let latitude1 = coordinate.latitude * .pi / 180
    let latitude2 = location.coordinate.latitude * .pi / 180
    let halfLatitude = sin((latitude2 - latitude1) / 2)
    let halfLongitude =
      sin((location.coordinate.longitude - coordinate.longitude) * .pi / 360)
    let haversine =
      halfLatitude * halfLatitude
      + cos(latitude1) * cos(latitude2) * halfLongitude * halfLongitude
    return 2 * Self.earthRadius * asin(min(1, haversine.squareRoot()))
  }
}
