import CloudKitModel
import Foundation

/// A computation of distances from one place, the centre, to places that are given as keys of the
/// value index. The computation takes half the time of `Location.distance(to:)`.
struct PlaceDistance {
  /// The greatest error of a distance, in metres. The error has two parts: the difference between
  /// the place of a key and the true place, and the rounding of cosines. Rounding matters most for
  /// short distances, and for distances to the other side of the earth.
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

  /// Returns the distance in metres from the centre to the place of a key. The greatest error is
  /// ``error``.
  ///
  /// - Parameter key: the key of a location as a number (``ValueKey``).
  func metres(to key: UInt64) -> Double { acos(nearness(of: key)) * Location.earthRadius }

  /// Returns the cosine of the angle between the centre and the place of a key, seen from the
  /// earth's centre: from -1 to 1. A greater cosine means a nearer place.
  func nearness(of key: UInt64) -> Double {
    let place = ValueKey.coordinates(of: key)
    let sine = sin(place.latitude * .pi / 180)
    let along = cos((place.longitude - longitude) * .pi / 180)
    let cosine =
      sineOfLatitude * sine + cosineOfLatitude * max(0, 1 - sine * sine).squareRoot() * along
    return min(1, max(-1, cosine))
  }
}
