import CloudKitModel
import Foundation

/// A computation of the distances of the places of index entries from one place, in half the time
/// of ``Location/distance(to:)``.
struct PlaceDistance {
  /// The greatest error of a distance, in metres. It has the part of a place that keys leave out,
  /// and the rounding of cosines. Cosines are least precise for short distances and for those to
  /// the other side of the earth.
  static let error = ValueKey.locationError + 0.5

  /// The sine of the centre's latitude.
  private let sineOfLatitude: Double
  /// The cosine of the centre's latitude.
  private let cosineOfLatitude: Double
  /// The longitude of the centre in degrees.
  private let longitude: Double

  /// Prepares the computation of distances from a place.
  init(from center: Location) {
    sineOfLatitude = sine(center.latitude)
    cosineOfLatitude = cosine(center.latitude)
    longitude = center.longitude
  }

  /// Returns the distance in metres to the place of a location's key, given as a number. ``error``
  /// is its greatest error.
  func metres(to key: UInt64) -> Double { acos(nearness(of: key)) * Location.earthRadius }

  /// Returns the cosine of the angle to a place, -1 to 1: the greater, the nearer.
  func nearness(of key: UInt64) -> Double {
    let place = ValueKey.coordinates(of: key)
    let sine = sin(place.latitude * .pi / 180)
    let along = cos((place.longitude - longitude) * .pi / 180)
    let cosine =
      sineOfLatitude * sine + cosineOfLatitude * max(0, 1 - sine * sine).squareRoot() * along
    return min(1, max(-1, cosine))
  }
}
