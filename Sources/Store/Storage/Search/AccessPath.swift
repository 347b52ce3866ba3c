import CloudKitModel

/// A path to all records that can match a query, possibly past other records.
struct AccessPath {
  enum Source {
    /// Ranges of the value index, one after the other.
    case stretches([IndexStretch])
    /// The records with these names.
    case names([String])
    /// The records of the searched zone.
    case zone
  }

  /// A search's position on a path through the value index.
  struct Position: Equatable {
    var stretch: Int
    var key: [UInt8]
    var number: Int64
  }

  /// A circle on the earth that contains all matches. The index locates places precisely enough.
  struct Circle {
    let center: Location
    /// The radius in metres.
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

    /// Whether the circle may contain a place, given its key as a number.
    func mayHold(_ key: UInt64) -> Bool { distance.nearness(of: key) >= leastCosine }
  }

  var source: Source
  /// Whether the path may lead to a record several times.
  var hasRepeats = false
  var circle: Circle?

  var stretches: [IndexStretch] {
    if case .stretches(let stretches) = source { return stretches }
    return []
  }
}

/// A range of one field in the value index.
struct IndexStretch {
  /// The field's number, or that of its words.
  var field: Int64
  var range: KeyRange
}
