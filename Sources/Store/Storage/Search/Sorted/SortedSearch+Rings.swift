import CloudKitModel

extension SortedSearch {
  /// The first outer radius in metres: small enough for a city centre.
  private static let firstRadius = 250.0
  private static let halfEarth = Location.earthRadius * .pi
  /// An upper bound for a distance computed from a key, in metres.
  private static let margin = 2.0

  /// In index entries: two ranges in each band of latitude, a tenth of a degree wide. `distance`
  /// is the inner radius in metres.
  static func effort(ofRingFrom distance: Double) -> Double {
    let bands = min(1_800, 2 * distance / Location.earthRadius * 1_800 / .pi)
    return 2 * bands * Double(NumberWindow.seekCost)
  }

  /// Visits places in rings around the centre of the sort, until the page is full, and returns
  /// whether it is. In descending order, the rings have their centre on the other side of the
  /// earth: the farthest place comes first.
  ///
  /// `start` is the last record of the previous page, if it has the shared values of the walk.
  mutating func walkRings(
    of path: AccessPath, level: Int, from start: RecordOrder.Place?
  ) throws -> Bool {
    let sortKey = keys[level]
    guard let center = sortKey.relativeLocation, let field = path.keyRanges.first?.field else {
      return collector.isFull
    }
    let origin = sortKey.ascending ? center : center.antipode
    var inner = -1.0
    if case .double(let distance)? = start?.values[level] {
      inner = fromOrigin(distance, level) - Self.margin
    }
    var end = Self.halfEarth
    if let circle = path.circle {
      let distance = origin.distance(to: circle.center)
      inner = max(inner, distance - circle.radius - 2 * Self.margin)
      end = min(end, distance + circle.radius + 2 * Self.margin)
    }
    var outer = max(Self.firstRadius, inner * 1.03)
    while true {
      let ring = LocationRanges(center: origin, outer: outer, inner: max(0, inner))
      let before = candidateFilter.passed
      let isFull = try collectRing(
        AccessPath(
          field: field, try ranges(of: ring, on: path, field: field), circle: path.circle),
        around: origin, beyond: inner, within: outer, level: level)
      if isFull { return true }
      if outer >= end { return false }
      let area = outer * outer - max(0, inner) * max(0, inner)
      inner = outer
      if let last = farthest(level: level) {
        // The page is full, but a place just outside of the ring may be nearer than the last
        // record.
        outer = max(outer, last) + 2 * Self.margin
      } else {
        // The area of the next ring is chosen, within limits, so that the ring has 1.3 times the
        // missing records if these are spread evenly.
        let entries = candidateFilter.passed - before
        let needed =
          1.3 * Double(collector.missing)
          / candidateFilter.matching(sorting: entryCost(level: level))
        outer = (outer * outer + (entries > 8 ? min(300, max(1.3, needed / entries)) : 15) * area)
          .squareRoot()
      }
    }
  }

  /// If the bands of latitude have few places, one range has them all: checking them costs less
  /// than seeking many ranges.
  private func ranges(
    of ring: LocationRanges, on path: AccessPath, field: Int64
  ) throws -> [KeyRange] {
    if path.circle != nil {
      return KeyRange.intersection(ring.ranges, path.keyRanges.map(\.range))
    }
    let whole = ring.wholeBands
    let few = ring.bands.count * 16
    if ring.bands.count > 16,
      try search.count(AccessPath(field: field, [whole]), upTo: few) < few
    {
      return [whole]
    }
    return ring.ranges
  }

  /// In the order of the keys' distances, in metres. Returns whether the page is full, and no
  /// place outside of the ring can be on it. Places up to `inner` were visited before.
  private mutating func collectRing(
    _ path: AccessPath, around origin: Location, beyond inner: Double, within outer: Double,
    level: Int
  ) throws -> Bool {
    let distance = PlaceDistance(from: origin)
    var places: [(metres: Double, number: Int64)] = []
    candidateFilter.seek(path.keyRanges.count)
    var reader = EntryReader(path)
    while !reader.isAtEnd {
      for entry in try entries(of: &reader, 4_096) {
        if let circle = path.circle, !circle.mayHold(entry.key.head) { continue }
        let metres = distance.metres(to: entry.key.head)
        guard metres > inner, metres <= outer else { continue }
        places.append((metres, entry.number))
      }
    }
    places.sort { $0 < $1 }
    for (index, place) in places.enumerated() {
      if index % 32 == 0, isFull(to: place.metres, level: level) { return true }
      try consider(place.number)
    }
    return isFull(to: outer, level: level)
  }

  /// The first record after the page is nearer than `distance` by more than ``margin``.
  private mutating func isFull(to distance: Double, level: Int) -> Bool {
    farthest(level: level).map { $0 + Self.margin < distance } ?? false
  }

  /// In metres; nil if the page is not full, or if this record has no distance.
  private mutating func farthest(level: Int) -> Double? {
    guard collector.isFull, case .double(let last)? = collector.bound()?.values[level] else {
      return nil
    }
    return fromOrigin(last, level)
  }

  /// Metres from the centre of the sort, as metres from the centre of the rings.
  private func fromOrigin(_ distance: Double, _ level: Int) -> Double {
    keys[level].ascending ? distance : Self.halfEarth - distance
  }
}

extension Location {
  fileprivate var antipode: Location {
    Location(latitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
  }
}
