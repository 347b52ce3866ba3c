import Foundation

/// A place on the earth with the measurements of a `CLLocation`. All measurements except the two
/// coordinates are optional.
public struct Location: Sendable, Hashable {
  /// The mean radius of the earth in metres (IUGG). Distances are great-circle distances on a
  /// sphere of this radius.
  public static let earthRadius = 6_371_008.7714

  /// The latitude in degrees north, -90 to 90.
  public var latitude: Double
  /// The longitude in degrees east, -180 to 180.
  public var longitude: Double
  /// The uncertainty of the coordinates in metres.
  public var horizontalAccuracy: Double?
  /// The uncertainty of the altitude in metres.
  public var verticalAccuracy: Double?
  /// The altitude in metres above sea level.
  public var altitude: Double?
  /// The speed in metres per second.
  public var speed: Double?
  /// The direction of travel in degrees clockwise from north.
  public var course: Double?
  /// The time of the measurement.
  public var timestamp: Timestamp?

  /// Creates a location without checks; call ``validate(field:)`` to check it.
  public init(
    latitude: Double, longitude: Double, horizontalAccuracy: Double? = nil,
    verticalAccuracy: Double? = nil, altitude: Double? = nil, speed: Double? = nil,
    course: Double? = nil, timestamp: Timestamp? = nil
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.altitude = altitude
    self.speed = speed
    self.course = course
    self.timestamp = timestamp
  }

  /// Returns the great-circle distance to `other` in metres, by the haversine formula. The altitude
  /// does not count.
  public func distance(to other: Location) -> Double {
    let latitude1 = latitude * .pi / 180
    let latitude2 = other.latitude * .pi / 180
    let halfLatitude = sin((latitude2 - latitude1) / 2)
    let halfLongitude = sin((other.longitude - longitude) * .pi / 360)
    let haversine =
      halfLatitude * halfLatitude
      + cos(latitude1) * cos(latitude2) * halfLongitude * halfLongitude
    return 2 * Self.earthRadius * asin(min(1, haversine.squareRoot()))
  }

  /// Checks that both coordinates and the time are within their ranges. NaN is outside of each range.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/wrongType``.
  public func validate(field: String) throws(ModelError) {
    guard (-90...90).contains(latitude) else {
      throw ModelError(
        .wrongType, field: field, "latitude \(latitude) of '\(field)' is not within -90…90")
    }
    guard (-180...180).contains(longitude) else {
      throw ModelError(
        .wrongType, field: field, "longitude \(longitude) of '\(field)' is not within -180…180")
    }
    try timestamp?.validate(field: field)
  }
}
