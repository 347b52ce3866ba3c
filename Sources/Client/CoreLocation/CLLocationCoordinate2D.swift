// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported import Foundation

/// A latitude or longitude in degrees.
public typealias CLLocationDegrees = Double
/// A distance in metres.
public typealias CLLocationDistance = Double
/// The radius of uncertainty in metres; negative means that the value is not valid.
public typealias CLLocationAccuracy = Double
/// A speed in metres per second.
public typealias CLLocationSpeed = Double
/// The uncertainty of a speed in metres per second; negative means not valid.
public typealias CLLocationSpeedAccuracy = Double
/// A direction in degrees clockwise from north.
public typealias CLLocationDirection = Double
/// The uncertainty of a direction in degrees; negative means not valid.
public typealias CLLocationDirectionAccuracy = Double

/// A point on the earth by latitude and longitude (WGS 84).
public struct CLLocationCoordinate2D: Sendable {
  /// Degrees north of the equator, -90 to 90.
  public var latitude: CLLocationDegrees
  /// Degrees east of the zero meridian, -180 to 180.
  public var longitude: CLLocationDegrees

  /// The point at 0°, 0°.
  public init() {
    self.init(latitude: 0, longitude: 0)
  }

  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// A coordinate that is not valid.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// The point at the given latitude and longitude.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether the latitude is within -90…90 and the longitude within -180…180.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  (-90...90).contains(coord.latitude) && (-180...180).contains(coord.longitude)
}
