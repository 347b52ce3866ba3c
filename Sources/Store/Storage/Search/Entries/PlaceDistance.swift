import CloudKitModel
import Foundation

/// Measures how far the places of index entries are from one place, in half of the time that
/// ``Location/distance(to:)`` takes.
struct PlaceDistance {
  /// What a distance may be wrong by, in metres: what keys leave out, and the rounding of cosines,
  /// which tell short distances, and those to the other side of the earth, least well.
  static let error = ValueKey.locationError + 0.5

  private let sineOfLatitude: Double
  private let cosineOfLatitude: Double
  private let longitude: Double

  init(from center: Location) {
    sineOfLatitude = sine(center.latitude)
    cosineOfLatitude = cosine(center.latitude)
    longitude = center.longitude
  }

  /// The distance of the place that a location's key tells, in metres.
  func metres(to key: UInt64) -> Double { acos(nearness(of: key)) * Location.earthRadius }

  /// The cosine of the angle that a place is away: the greater, the nearer it is.
  func nearness(of key: UInt64) -> Double {
    let place = ValueKey.coordinates(of: key)
    let sine = sin(place.latitude * .pi / 180)
    let along = cos((place.longitude - longitude) * .pi / 180)
    let cosine =
      sineOfLatitude * sine + cosineOfLatitude * max(0, 1 - sine * sine).squareRoot() * along
    return min(1, max(-1, cosine))
  }
}
