import Foundation

/// A place on the earth, with what a `CLLocation` knows besides.
public struct Location: Sendable, Hashable {
  /// The mean radius of the earth (IUGG), in metres. Distances are great-circle distances on a
  /// sphere of this radius.
  public static let earthRadius = 6_371_008.7714

  /// Degrees north, -90 to 90.
  public var latitude: Double
  /// Degrees east, -180 to 180.
  public var longitude: Double
  /// Metres.
  public var horizontalAccuracy: Double?
  /// Metres.
  public var verticalAccuracy: Double?
  /// Metres above sea level.
  public var altitude: Double?
  /// Metres per second.
  public var speed: Double?
  /// Degrees clockwise from north.
  public var course: Double?
  public var timestamp: Timestamp?

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

  /// The great-circle distance to `other` in metres, by the haversine formula. Altitude is ignored.
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

  /// Throws unless both coordinates are finite and within their ranges.
  public func validate(field: String) throws(ModelError) {
    guard (-90...90).contains(latitude) else {
      throw ModelError(
        .wrongType, field: field, "latitude \(latitude) of '\(field)' is not within -90…90")
    }
    guard (-180...180).contains(longitude) else {
      throw ModelError(
        .wrongType, field: field, "longitude \(longitude) of '\(field)' is not within -180…180")
    }
  }
}
