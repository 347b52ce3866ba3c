import StoreModel

/// Indexes of databases and parts of them that are kept in memory, as a value: which stay, and which go when there is
/// not enough of it.
struct IndexShelf: Sendable {
  private struct Place {
    /// Nil while the index is in use.
    var index: DatabaseIndex?
    var bytes = 0
    var lastUse: UInt64 = 0
  }

  /// Bytes that the indexes may take together.
  let limit: Int
  private(set) var bytes = 0
  private(set) var evictions = 0
  private var places: [DatabasePart: Place] = [:]
  private var uses: UInt64 = 0

  init(limit: Int) {
    self.limit = limit
  }

  var count: Int { places.count }

  /// Gives an index away to be used; nil when there is none. What is in use does not go.
  mutating func take(_ part: DatabasePart) -> DatabaseIndex? {
    // The copy outside must be the only one, or to change it would copy the whole index.
    let place = places.updateValue(Place(), forKey: part)
    places[part]?.bytes = place?.bytes ?? 0
    return place?.index
  }

  /// Tells how large an index in use has become, and answers those that go for it.
  mutating func note(_ bytes: Int, of part: DatabasePart) -> [DatabaseIndex] {
    guard let place = places[part] else { return [] }
    self.bytes += bytes - place.bytes
    places[part]?.bytes = bytes
    return evict(except: part)
  }

  /// Puts an index back, and answers those that go for it.
  mutating func put(_ index: DatabaseIndex, for part: DatabasePart) -> [DatabaseIndex] {
    let gone = note(index.bytes, of: part)
    uses += 1
    places[part]?.index = index
    places[part]?.lastUse = uses
    return gone
  }

  /// Lets go of an index that is not in use and will not be used again.
  mutating func drop(_ part: DatabasePart) -> DatabaseIndex? {
    guard let index = places[part]?.index else { return nil }
    bytes -= places.removeValue(forKey: part)?.bytes ?? 0
    return index
  }

  /// Lets go of those that went unused longest, when all together take more than the limit. The one
  /// that was used last stays even if it is larger than that by itself: it would be made again for
  /// the next change.
  private mutating func evict(except latest: DatabasePart) -> [DatabaseIndex] {
    guard bytes > limit else { return [] }
    let idle = places.filter { $0.key != latest && $0.value.index != nil }
      .sorted { $0.value.lastUse < $1.value.lastUse }
    var gone: [DatabaseIndex] = []
    // Some more than is needed, so that not every use lets another go.
    let aim = limit - limit / 8
    for (part, place) in idle where bytes > aim {
      guard let index = place.index else { continue }
      gone.append(index)
      places[part] = nil
      bytes -= place.bytes
      evictions += 1
    }
    return gone
  }
}
