import CloudKitModel
import Foundation

/// A place as latitude and longitude and as a point of the unit sphere.
struct SpherePoint: BitwiseCopyable, Sendable {
  let latitude: Double
  let longitude: Double
  let x: Double
  let y: Double
  let z: Double

  /// What is within no distance of anything.
  static let nowhere = SpherePoint(latitude: .nan, longitude: .nan)

  init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    x = cos(north) * cos(east)
    y = cos(north) * sin(east)
    z = sin(north)
  }

  var location: Location { Location(latitude: latitude, longitude: longitude) }
}

/// The places within a distance, small enough to stand in a ``Candidate``: a center on the unit sphere
/// and the length of the straight line from it to the edge.
struct PlaceCap: Sendable {
  private let x: Float
  private let y: Float
  private let z: Float
  private let chord: Float

  enum Side {
    case inside, outside
    /// Too near to the edge to tell with numbers of this precision.
    case unknown
  }

  /// More than what all roundings come to, some 1.5e-7; three metres on the earth.
  private static let margin = 5e-7

  init(center: Location, distance: Double) {
    let place = SpherePoint(latitude: center.latitude, longitude: center.longitude)
    (x, y, z) = (Float(place.x), Float(place.y), Float(place.z))
    // Half around the earth is as far as anything is.
    let half = distance / (2 * Location.earthRadius)
    chord = Float(half >= .pi / 2 ? 3 : 2 * sin(half))
  }

  init(_ low: UInt64, _ high: UInt64) {
    x = Float(bitPattern: UInt32(low >> 32))
    y = Float(bitPattern: UInt32(truncatingIfNeeded: low))
    z = Float(bitPattern: UInt32(high >> 32))
    chord = Float(bitPattern: UInt32(truncatingIfNeeded: high))
  }

  var words: (low: UInt64, high: UInt64) {
    (
      UInt64(x.bitPattern) << 32 | UInt64(y.bitPattern),
      UInt64(z.bitPattern) << 32 | UInt64(chord.bitPattern)
    )
  }

  @inline(__always)
  func side(of place: SpherePoint) -> Side {
    let (dx, dy, dz) = (place.x - Double(x), place.y - Double(y), place.z - Double(z))
    let squared = dx * dx + dy * dy + dz * dz
    let (inner, outer) = (max(0, Double(chord) - Self.margin), Double(chord) + Self.margin)
    if squared > outer * outer { return .outside }
    return squared < inner * inner ? .inside : .unknown
  }
}
