import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct SearchCacheTests {
  private func name(_ field: Int64) -> SearchCache.Name {
    SearchCacheEntry.Name(database: DatabaseID(rawValue: 1), field: field)
  }

  private func column(version: Int64, key: UInt64 = 0) -> SearchCacheEntry {
    var column = KeyColumn(version: version)
    column[1] = key
    return .column(column)
  }

  @Test("a column is made when enough was spent for want of it, by one")
  func demand() {
    let cache = SearchCache(limit: 1 << 20)
    #expect(!cache.isWorthMaking(name(1), for: 100))
    cache.note(60, withoutEntry: name(1))
    #expect(!cache.isWorthMaking(name(1), for: 100))
    cache.note(60, withoutEntry: name(1))
    #expect(!cache.isWorthMaking(name(2), for: 100))
    #expect(cache.isWorthMaking(name(1), for: 100))
    #expect(!cache.isWorthMaking(name(1), for: 100))
    cache.receive(column(version: 1), as: name(1))
    cache.note(1_000, withoutEntry: name(1))
    #expect(!cache.isWorthMaking(name(1), for: 100))
  }

  @Test("one that was given up has to be wanted twice as much, to a limit")
  func givingUp() {
    let cache = SearchCache(limit: 1 << 20)
    for round in 0..<20 {
      cache.keep(column(version: Int64(round)), as: name(1))
      cache.giveUp(name(1))
      #expect(cache.entry(name(1)) == nil)
      let needed = 100 * Double(min(64, 2 << round))
      cache.note(needed - 1, withoutEntry: name(1))
      #expect(!cache.isWorthMaking(name(1), for: 100), "round \(round)")
      cache.note(1, withoutEntry: name(1))
      #expect(cache.isWorthMaking(name(1), for: 100), "round \(round)")
    }
  }

  @Test("a newer column stays where an older one comes")
  func versions() {
    let cache = SearchCache(limit: 1 << 20)
    cache.keep(column(version: 5, key: 50), as: name(1))
    cache.keep(column(version: 4, key: 40), as: name(1))
    #expect(cache.entry(name(1))?.column?[1] == 50)
    cache.keep(column(version: 6, key: 60), as: name(1))
    #expect(cache.entry(name(1))?.column?[1] == 60)
  }

  @Test("the least recently used entry is removed when the memory is full")
  func room() {
    let size = column(version: 1).size
    let cache = SearchCache(limit: 2 * size)
    cache.keep(column(version: 1), as: name(1))
    cache.keep(column(version: 1), as: name(2))
    #expect(cache.counts.size == 2 * size)
    _ = cache.entry(name(1))
    cache.keep(column(version: 1), as: name(3))
    #expect(cache.counts.size == 2 * size)
    #expect(cache.entry(name(1)) != nil)
    #expect(cache.entry(name(2)) == nil)
    #expect(cache.entry(name(3)) != nil)
    // Nor is it made again at once.
    cache.note(100, withoutEntry: name(2))
    #expect(!cache.isWorthMaking(name(2), for: 100))
  }

  @Test("a column that is larger than all memory for them is not kept")
  func tooLarge() {
    let cache = SearchCache(limit: 100)
    cache.keep(column(version: 1), as: name(1))
    #expect(cache.counts.size == 0)
  }
}
