import CloudKitModel

/// The ranges of the value index for a circle or a ring on the earth: the area between two circles
/// with the same centre.
///
/// A key begins with the band of latitude, a tenth of a degree wide, and then has the longitude
/// (``ValueKey``). In each band that the outer circle touches, the ring has one or more ranges of
/// longitude, and so of keys. They contain all places of the ring, and a few others.
struct LocationRanges {
  let center: Location
  /// The outer radius in metres.
  let outer: Double
  var inner = 0.0

  /// In degrees at the earth's centre, slightly more than exact, to allow for rounding.
  private var reach: Double { degrees(outer * 1.000_001 + 1) }

  var bands: ClosedRange<UInt16> {
    ValueKey.band(center.latitude - reach)...ValueKey.band(center.latitude + reach)
  }

  var wholeBands: KeyRange {
    KeyRange(
      lower: ValueKey.key(ofBand: bands.lowerBound, longitude: -180),
      upper: ValueKey.key(ofBand: bands.upperBound, longitude: 180) + [0xFF, 0xFF])
  }

  /// The ranges of keys, ordered and disjoint.
  var ranges: [KeyRange] {
    let reach = reach
    var ranges: [KeyRange] = []
    // Adjacent bands with all longitudes form one range.
    var lastWasWhole = false
    for band in bands {
      let spans = longitudes(inBand: band, reach: reach)
      let isWhole = spans == [-180...180]
      for span in spans {
        let upper = ValueKey.key(ofBand: band, longitude: span.upperBound) + [0xFF, 0xFF]
        if isWhole, lastWasWhole {
          ranges[ranges.count - 1].upper = upper
        } else {
          let lower = ValueKey.key(ofBand: band, longitude: span.lowerBound)
          ranges.append(KeyRange(lower: lower, upper: upper))
        }
      }
      lastWasWhole = isWhole
    }
    return KeyRange.union(ranges)
  }

  /// Degrees at the earth's centre for metres along the earth.
  private func degrees(_ distance: Double) -> Double { distance / Location.earthRadius * 180 / .pi }

  /// In degrees: up to two ranges, or three if one crosses the date line.
  private func longitudes(inBand band: UInt16, reach: Double) -> [ClosedRange<Double>] {
    let south = max(-90, Double(band) / 10 - 90)
    let north = min(90, south + 0.1)
    let wide = widths(from: south, to: north, radius: reach).max() ?? 180
    let hole = degrees(inner * 0.999_999 - 1)
    guard hole > 0 else { return span(0, wide + 1e-6) }
    let narrow = widths(from: south, to: north, radius: hole).min() ?? 0
    guard narrow > 1e-5 else { return span(0, wide + 1e-6) }
    return span(narrow - 1e-6, wide + 1e-6)
  }

  /// In degrees of longitude: at both edges of a band, and where a meridian touches the circle,
  /// which is widest there.
  private func widths(from south: Double, to north: Double, radius: Double) -> [Double] {
    var latitudes = [south, north]
    let touching = sine(center.latitude) / cosine(radius)
    if abs(touching) < 1 { latitudes.append(min(north, max(south, arcSine(touching)))) }
    return latitudes.map { halfWidth(at: $0, radius: radius) }
  }

  /// The degrees of longitude from the centre to the edge of a circle: 0 if it does not reach the
  /// latitude, 180 if it contains all longitudes there.
  private func halfWidth(at latitude: Double, radius: Double) -> Double {
    guard radius < 180 else { return 180 }
    let across = cosine(center.latitude) * cosine(latitude)
    let along = cosine(radius) - sine(center.latitude) * sine(latitude)
    // At a pole all longitudes are the same place.
    guard across > 1e-12 else { return along <= 1e-12 ? 180 : 0 }
    return arcCosine(min(1, max(-1, along / across)))
  }

  private func span(_ near: Double, _ far: Double) -> [ClosedRange<Double>] {
    guard near <= far else { return [] }
    if far >= 180, near <= 0 { return [-180...180] }
    let far = min(far, 180)
    let east = wrapped(center.longitude + near, center.longitude + far)
    if near <= 0 { return wrapped(center.longitude - far, center.longitude + far) }
    return east + wrapped(center.longitude - far, center.longitude - near)
  }

  private func wrapped(_ west: Double, _ east: Double) -> [ClosedRange<Double>] {
    if west < -180 {
      return east < -180
        ? [(west + 360)...(east + 360)] : [-180...east, (west + 360)...180]
    }
    if east > 180 {
      return west > 180
        ? [(west - 360)...(east - 360)] : [west...180, -180...(east - 360)]
    }
    return [west...east]
  }
}
