extension CLLocation {
  private static let earthRadius = 6_371_008.7714

  /// Returns the great-circle distance to `location` in metres.
  ///
  /// The method uses the haversine formula on a sphere with the earth's mean radius. The result
  /// differs from the distance on the ellipsoid by at most 0.6 %. The altitudes have no effect.
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
