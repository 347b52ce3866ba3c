import CloudKitModel

/// A path to all records that can match a query, possibly past other records.
///
/// For example, the filter `rank > 3` gives a path with one range of the index of `rank`. Every
/// match is on the path. A record on the path matches if it also passes the other filters.
struct AccessPath {
  /// The source of a path's records.
  enum Source {
    /// The ranges of the value index, one after the other.
    case stretches([IndexStretch])
    /// The records with these names.
    case names([String])
    /// The records of the searched zone.
    case zone
  }

  /// A search's position on a path through the value index.
  struct Position: Equatable {
    /// The index of the range on the path.
    var stretch: Int
    /// The key of the last entry.
    var key: [UInt8]
    /// The record number of the last entry.
    var number: Int64
  }

  /// A circle on the earth that contains all matches. The index locates places precisely enough to
  /// reject most others without reading them.
  struct Circle {
    let center: Location
    /// The radius in metres.
    let radius: Double
    /// The computation of distances from the centre.
    private let distance: PlaceDistance
    /// The cosine of the angle of the radius, with the error of keys. A place with a smaller cosine
    /// is outside.
    private let leastCosine: Double

    /// Creates a circle.
    ///
    /// - Parameters:
    ///   - center: the centre.
    ///   - radius: the radius in metres. With half the earth's circumference or more, it contains
    ///     every place.
    init(center: Location, radius: Double) {
      self.center = center
      self.radius = radius
      distance = PlaceDistance(from: center)
      let angle = (radius + PlaceDistance.error) / Location.earthRadius * 180 / .pi
      leastCosine = angle < 180 ? cosine(angle) : -1
    }

    /// Returns whether the circle may contain a place, given its key as a number. Places within the
    /// error of keys outside of the circle also count.
    func mayHold(_ key: UInt64) -> Bool { distance.nearness(of: key) >= leastCosine }
  }

  /// The records of the path.
  var source: Source
  /// Whether the path may lead to a record several times.
  var hasRepeats = false
  /// The circle whose places the path has; nil if the path is not of a distance filter.
  var circle: Circle?

  /// The ranges of the path, in order; empty for a path of names or of a zone.
  var stretches: [IndexStretch] {
    if case .stretches(let stretches) = source { return stretches }
    return []
  }
}

/// A range of one field in the value index.
struct IndexStretch {
  /// The field's number, or that of its words.
  var field: Int64
  /// The range of keys.
  var range: KeyRange
}
