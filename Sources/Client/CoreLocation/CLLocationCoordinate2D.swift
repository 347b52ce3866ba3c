// The names are those of Apple's framework.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

@_exported import Foundation

/// The type of a latitude or longitude, in degrees.
public typealias CLLocationDegrees = Double
/// The type of a distance, in metres.
public typealias CLLocationDistance = Double
/// The type of a radius of uncertainty, in metres. A negative number means that the measured value
/// is not valid.
public typealias CLLocationAccuracy = Double
/// The type of a speed, in metres per second.
public typealias CLLocationSpeed = Double
/// The type of the uncertainty of a speed, in metres per second. A negative number means that the
/// uncertainty is not known.
public typealias CLLocationSpeedAccuracy = Double
/// The type of a direction, in degrees clockwise from north.
public typealias CLLocationDirection = Double
/// The type of the uncertainty of a direction, in degrees. A negative number means that the
/// uncertainty is not known.
public typealias CLLocationDirectionAccuracy = Double

/// A point on the earth by latitude and longitude, in the reference system WGS 84.
///
/// The initializers do not check the ranges; ``CLLocationCoordinate2DIsValid(_:)`` does.
public struct CLLocationCoordinate2D: Sendable {
  /// The degrees north of the equator, in -90…90. Negative degrees are south of the equator.
  public var latitude: CLLocationDegrees
  /// The degrees east of the prime meridian, in -180…180. Negative degrees are west of the
  /// meridian.
  public var longitude: CLLocationDegrees

  /// Makes the point at 0°, 0°.
  public init() {
    self.init(latitude: 0, longitude: 0)
  }

  /// Makes the point at a latitude and longitude.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// A coordinate that is not valid: the latitude -180 is outside of -90…90.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Returns the point at a latitude and longitude.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Returns whether the latitude is in -90…90 and the longitude in -180…180.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  (-90...90).contains(coord.latitude) && (-180...180).contains(coord.longitude)
}
