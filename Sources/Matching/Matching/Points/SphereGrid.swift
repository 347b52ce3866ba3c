import CloudKitModel
import Foundation

/// Grids of cells over the earth, finer with each level: bands of latitude, each cut into cells about
/// as wide as they are high.
enum SphereGrid {
  static let finestLevel: UInt8 = 20

  /// The cell that holds a place.
  static func cell(latitude: Double, longitude: Double, level: UInt8) -> UInt64 {
    let band = band(of: latitude, level: level)
    return cell(band: band, column: column(of: longitude, columns: columns(of: band, level: level)))
  }

  /// A level and its cells that together hold every place within the distance from the center; about
  /// four cells, up to some twenty around a pole.
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
      // What reaches over the date line goes on from the other side.
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

  /// How many degrees a circle reaches to the north and south, and to the east and west, of its
  /// center.
  static func extent(
    center: Location, distance: Double
  ) -> (height: Double, width: Double) {
    // Distances are computed with rounding, nearly 1 m of it on the other side of the earth.
    let radius = (distance / Location.earthRadius * (1 + 1e-9) + 1e-7) * 180 / .pi
    guard center.latitude - radius > -90, center.latitude + radius < 90, radius < 90 else {
      return (radius, 180)
    }
    let ratio = sin(radius * .pi / 180) / cos(center.latitude * .pi / 180)
    return (radius, ratio < 1 ? asin(ratio) * 180 / .pi * (1 + 1e-9) + 1e-7 : 180)
  }

  /// Degrees of latitude.
  private static func height(_ level: UInt8) -> Double { 180 / Double(1 << Int(level)) }

  private static func band(of latitude: Double, level: UInt8) -> Int {
    let clamped = min(90, max(-90, latitude))
    return min((1 << Int(level)) - 1, Int((clamped + 90) / height(level)))
  }

  private static func columns(of band: Int, level: UInt8) -> Int {
    let south = Double(band) * height(level) - 90
    let north = south + height(level)
    // A band is as wide as its edge that is nearer to the equator, or as the equator.
    let widest = south < 0 && north > 0 ? 0 : min(abs(south), abs(north))
    return max(1, Int(360 * cos(widest * .pi / 180) / height(level)))
  }

  private static func column(of longitude: Double, columns: Int) -> Int {
    let clamped = min(180, max(-180, longitude))
    return min(columns - 1, Int((clamped + 180) / 360 * Double(columns)))
  }

  private static func cell(band: Int, column: Int) -> UInt64 {
    UInt64(band) << 32 | UInt64(column)
  }
}
