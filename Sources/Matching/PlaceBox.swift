import CloudKitModel
import Foundation

/// A box of latitudes and longitudes that holds a circle, small enough to stand in a ``Candidate``.
struct PlaceBox: Sendable {
  private let latitude: Float
  private let longitude: Float
  private let height: Float
  private let width: Float

  init(center: Location, distance: Double) {
    let (height, width) = SphereGrid.extent(center: center, distance: distance)
    latitude = Float(center.latitude)
    longitude = Float(center.longitude)
    // More than what is lost by rounding to a `Float` of some hundred.
    self.height = Float(height) + 1e-4
    self.width = Float(width) + 1e-4
  }

  init(_ low: UInt64, _ high: UInt64) {
    latitude = Float(bitPattern: UInt32(low >> 32))
    longitude = Float(bitPattern: UInt32(truncatingIfNeeded: low))
    height = Float(bitPattern: UInt32(high >> 32))
    width = Float(bitPattern: UInt32(truncatingIfNeeded: high))
  }

  var words: (low: UInt64, high: UInt64) {
    (
      UInt64(latitude.bitPattern) << 32 | UInt64(longitude.bitPattern),
      UInt64(height.bitPattern) << 32 | UInt64(width.bitPattern)
    )
  }

  @inline(__always)
  func mayHold(_ place: Location) -> Bool {
    if abs(Float(place.latitude) - latitude) > height { return false }
    let apart = abs(Float(place.longitude) - longitude)
    return min(apart, 360 - apart) <= width
  }
}
