import CloudKitModel

/// A way to all records that can match a query, which may lead past others too.
struct AccessPath {
  enum Source {
    /// Stretches of the value index, one after the other.
    case stretches([IndexStretch])
    /// The records of these names.
    case names([String])
    /// The records of the zone that is searched.
    case zone
  }

  /// Where a search stands on a path through the value index.
  struct Position: Equatable {
    var stretch: Int
    var key: [UInt8]
    var number: Int64
  }

  /// A circle on the earth outside of which no record matches: the index tells places well enough.
  struct Circle {
    let center: Location
    /// In metres.
    let radius: Double
    private let distance: PlaceDistance
    private let leastCosine: Double

    init(center: Location, radius: Double) {
      self.center = center
      self.radius = radius
      distance = PlaceDistance(from: center)
      let angle = (radius + PlaceDistance.error) / Location.earthRadius * 180 / .pi
      leastCosine = angle < 180 ? cosine(angle) : -1
    }

    /// Whether it may hold a place, given its key as a number.
    func mayHold(_ key: UInt64) -> Bool { distance.nearness(of: key) >= leastCosine }
  }

  var source: Source
  /// Whether a record can stand on the path several times.
  var hasRepeats = false
  var circle: Circle?

  var stretches: [IndexStretch] {
    if case .stretches(let stretches) = source { return stretches }
    return []
  }
}

/// A stretch of the value index.
struct IndexStretch {
  /// The field's number, or that of its words.
  var field: Int64
  var range: KeyRange
}
