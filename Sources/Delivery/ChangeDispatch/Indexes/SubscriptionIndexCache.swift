import StoreModel

/// The cache of the matching indexes of databases and parts, as a value. It decides which indexes
/// are evicted: the least recently used.
struct SubscriptionIndexCache: Sendable {
  /// An index in the cache.
  private struct Place {
    /// The index; `nil` while it is in use.
    var index: DatabaseIndex?
    /// Its approximate memory in bytes.
    var bytes = 0
    /// The number of the last use of the cache that returned the index.
    var lastUse: UInt64 = 0
  }

  /// The greatest memory of all indexes in bytes.
  let limit: Int
  /// The memory of all indexes in bytes, those in use included.
  private(set) var bytes = 0
  /// The number of indexes that were evicted.
  private(set) var evictions = 0
  /// The indexes, those in use included.
  private var places: [DatabasePart: Place] = [:]
  /// The number of uses.
  private var uses: UInt64 = 0

  /// Creates an empty cache.
  init(limit: Int) {
    self.limit = limit
  }

  /// The number of indexes, those in use included.
  var count: Int { places.count }

  /// Gives out an index to use; `nil` if there is none. An index in use is not evicted.
  mutating func take(_ part: DatabasePart) -> DatabaseIndex? {
    // The caller's copy must be the only one: a change of a shared one would copy the whole index.
    let place = places.updateValue(Place(), forKey: part)
    places[part]?.bytes = place?.bytes ?? 0
    return place?.index
  }

  /// Records the size of an index in use, and returns the indexes that are evicted for it.
  mutating func note(_ bytes: Int, of part: DatabasePart) -> [DatabaseIndex] {
    guard let place = places[part] else { return [] }
    self.bytes += bytes - place.bytes
    places[part]?.bytes = bytes
    return evict(except: part)
  }

  /// Returns an index to the cache, and returns those that are evicted for it.
  mutating func put(_ index: DatabaseIndex, for part: DatabasePart) -> [DatabaseIndex] {
    let gone = note(index.bytes, of: part)
    uses += 1
    places[part]?.index = index
    places[part]?.lastUse = uses
    return gone
  }

  /// Removes an index that is not in use, and returns it; `nil` if there is none.
  mutating func drop(_ part: DatabasePart) -> DatabaseIndex? {
    guard let index = places[part]?.index else { return nil }
    bytes -= places.removeValue(forKey: part)?.bytes ?? 0
    return index
  }

  /// Evicts the least recently used indexes if all together exceed the limit.
  ///
  /// The last used one stays even if it alone exceeds the limit, because the next change would
  /// rebuild it.
  ///
  /// - Complexity: O(*n* log *n*) if the limit is exceeded, where *n* is the number of indexes;
  ///   otherwise O(1).
  private mutating func evict(except latest: DatabasePart) -> [DatabaseIndex] {
    guard bytes > limit else { return [] }
    let idle = places.filter { $0.key != latest && $0.value.index != nil }
      .sorted { $0.value.lastUse < $1.value.lastUse }
    var gone: [DatabaseIndex] = []
    // More than needed are evicted, down to seven eighths, so that not every use evicts one.
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
