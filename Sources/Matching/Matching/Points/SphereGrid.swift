import CloudKitModel
import Foundation

/// The grids of cells over the earth, one for each level.
///
/// A grid of level *n* has 2^*n* bands of equal height in latitude. Each band is divided into cells
/// that are about as wide as they are high.
enum SphereGrid {
  /// The finest level, 20. Its bands are about 19 metres high.
  static let finestLevel: UInt8 = 20

  /// Returns the number of the cell of a level that contains a place.
  ///
  /// - Parameters:
  ///   - latitude: Degrees; values beyond -90 and 90 are clamped.
  ///   - longitude: Degrees; values beyond -180 and 180 are clamped.
  /// - Complexity: O(1)
  static func cell(latitude: Double, longitude: Double, level: UInt8) -> UInt64 {
    let band = band(of: latitude, level: level)
    return cell(band: band, column: column(of: longitude, columns: columns(of: band, level: level)))
  }

  /// Returns a level, and the numbers of the cells of this level that together contain every place
  /// within the distance from the center.
  ///
  /// The level is the finest one, up to ``finestLevel``, whose bands are at least as high as the
  /// circle's diameter. There are about four cells; around a pole, up to some twenty.
  ///
  /// - Parameter distance: The distance in metres.
  /// - Complexity: O(*m* log *m*), where *m* is the number of cells.
  static func cover(center: Location, distance: Double) -> (level: UInt8, cells: [UInt64]) {
    let (radius, width) = extent(center: center, distance: distance)
    var level: UInt8 = 0
    while level < finestLevel, height(level + 1) >= 2 * radius { level += 1 }
    let (south, north) = (center.latitude - radius, center.latitude + radius)
    var cells: Set<UInt64> = []
    for band in band(of: south, level: level)...band(of: north, level: level) {
      let columns = columns(of: band, level: level)
      let first = center.longitude - width
      let last = center.longitude + width
      if last - first >= 360 {
        for column in 0..<columns { cells.insert(cell(band: band, column: column)) }
        continue
      }
      // A circle over the date line continues on the other side.
      for turn in [-360.0, 0, 360] {
        let (from, to) = (max(-180, first + turn), min(180, last + turn))
        guard from <= to else { continue }
        for column in column(of: from, columns: columns)...column(of: to, columns: columns) {
          cells.insert(cell(band: band, column: column))
        }
      }
    }
    return (level, cells.sorted())
  }

  /// Returns half of the height of a circle in degrees of latitude, and half of its width in
  /// degrees of longitude.
  ///
  /// Both results are slightly too large, so that no place within the computed distance is outside.
  /// A circle that contains a pole has a `width` of 180.
  ///
  /// - Parameter distance: The distance in metres.
  static func extent(
    center: Location, distance: Double
  ) -> (height: Double, width: Double) {
    // Computed distances have rounding errors of up to nearly 1 m, for places at the opposite side
    // of the earth.
    let radius = (distance / Location.earthRadius * (1 + 1e-9) + 1e-7) * 180 / .pi
    guard center.latitude - radius > -90, center.latitude + radius < 90, radius < 90 else {
      return (radius, 180)
    }
    let ratio = sin(radius * .pi / 180) / cos(center.latitude * .pi / 180)
    return (radius, ratio < 1 ? asin(ratio) * 180 / .pi * (1 + 1e-9) + 1e-7 : 180)
  }

  private static func height(_ level: UInt8) -> Double { 180 / Double(1 << Int(level)) }

  private static func band(of latitude: Double, level: UInt8) -> Int {
    let clamped = min(90, max(-90, latitude))
    return min((1 << Int(level)) - 1, Int((clamped + 90) / height(level)))
  }

  private static func columns(of band: Int, level: UInt8) -> Int {
    let south = Double(band) * height(level) - 90
    let north = south + height(level)
    // The length of a band is that of its edge nearest to the equator. If the band contains the
    // equator, it is that of the equator.
    let widest = south < 0 && north > 0 ? 0 : min(abs(south), abs(north))
    return max(1, Int(360 * cos(widest * .pi / 180) / height(level)))
  }

  /// Returns the column, among `columns` cells of a band, that contains a longitude. Column 0
  /// begins at -180 degrees.
  private static func column(of longitude: Double, columns: Int) -> Int {
    let clamped = min(180, max(-180, longitude))
    return min(columns - 1, Int((clamped + 180) / 360 * Double(columns)))
  }

  /// Returns the number of a cell: the band in the upper 32 bits, the column in the lower 32 bits.
  private static func cell(band: Int, column: Int) -> UInt64 {
    UInt64(band) << 32 | UInt64(column)
  }
}
