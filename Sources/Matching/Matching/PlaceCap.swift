import CloudKitModel
import Foundation

/// A place on the earth, as latitude and longitude and as a point of the unit sphere.
struct SpherePoint: BitwiseCopyable, Sendable {
  /// The latitude in degrees, -90 to 90.
  let latitude: Double
  /// The longitude in degrees, -180 to 180.
  let longitude: Double
  /// The coordinate towards latitude 0, longitude 0.
  let x: Double
  /// The coordinate towards latitude 0, longitude 90 degrees east.
  let y: Double
  /// The coordinate towards the north pole.
  let z: Double

  /// The value for "no place": all coordinates are NaN, so no distance to it is within a limit.
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

/// The places within a distance of a center (a spherical cap). A ``Candidate`` stores the cap in 16
/// bytes.
///
/// The cap has a center on the unit sphere and a chord: the length of the straight line from the
/// center to the edge. All four numbers are `Float`, so the cap cannot decide whether it contains a
/// place close to its edge.
struct PlaceCap: Sendable {
  /// The coordinates of the center on the unit sphere, as in ``SpherePoint``.
  private let x: Float
  private let y: Float
  private let z: Float
  /// The length of the chord, for a sphere of radius 1. 3 means the whole sphere.
  private let chord: Float

  /// The position of a place relative to the cap.
  enum Side {
    /// The place is certainly within the distance (`inside`), or certainly beyond it (`outside`).
    case inside, outside
    /// The place is too close to the edge for this precision. The caller must compute the exact
    /// distance.
    case unknown
  }

  /// The tolerance at the edge, as a length for radius 1: about three metres on the earth. It is
  /// greater than the sum of all rounding errors, about 1.5e-7.
  private static let margin = 5e-7

  /// - Parameter distance: In metres.
  init(center: Location, distance: Double) {
    let place = SpherePoint(latitude: center.latitude, longitude: center.longitude)
    (x, y, z) = (Float(place.x), Float(place.y), Float(place.z))
    // No place is farther than half the circumference.
    let half = distance / (2 * Location.earthRadius)
    chord = Float(half >= .pi / 2 ? 3 : 2 * sin(half))
  }

  init(_ low: UInt64, _ high: UInt64) {
    x = Float(bitPattern: UInt32(low >> 32))
    y = Float(bitPattern: UInt32(truncatingIfNeeded: low))
    z = Float(bitPattern: UInt32(high >> 32))
    chord = Float(bitPattern: UInt32(truncatingIfNeeded: high))
  }

  /// The cap as two words. `low` has the bit patterns of `x` (upper half) and `y`; `high` has those
  /// of `z` and the chord.
  var words: (low: UInt64, high: UInt64) {
    (
      UInt64(x.bitPattern) << 32 | UInt64(y.bitPattern),
      UInt64(z.bitPattern) << 32 | UInt64(chord.bitPattern)
    )
  }

  /// Returns the position of a place relative to the cap. ``SpherePoint/nowhere`` gives `unknown`.
  ///
  /// - Complexity: O(1), without trigonometric functions.
  @inline(__always)
  func side(of place: SpherePoint) -> Side {
    let (dx, dy, dz) = (place.x - Double(x), place.y - Double(y), place.z - Double(z))
    let squared = dx * dx + dy * dy + dz * dz
    let (inner, outer) = (max(0, Double(chord) - Self.margin), Double(chord) + Self.margin)
    if squared > outer * outer { return .outside }
    return squared < inner * inner ? .inside : .unknown
  }
}
