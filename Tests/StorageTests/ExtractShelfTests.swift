import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct ExtractShelfTests {
  private func name(_ field: Int64) -> ExtractShelf.Name {
    IndexExtract.Name(database: DatabaseID(rawValue: 1), field: field)
  }

  private func column(version: Int64, key: UInt64 = 0) -> IndexExtract {
    var column = KeyColumn(version: version)
    column[1] = key
    return .column(column)
  }

  @Test("a column is made when enough was spent for want of it, by one")
  func demand() {
    let shelf = ExtractShelf(limit: 1 << 20)
    #expect(!shelf.isWanted(name(1), for: 100))
    shelf.note(60, forWantOf: name(1))
    #expect(!shelf.isWanted(name(1), for: 100))
    shelf.note(60, forWantOf: name(1))
    #expect(!shelf.isWanted(name(2), for: 100))
    #expect(shelf.isWanted(name(1), for: 100))
    #expect(!shelf.isWanted(name(1), for: 100))
    shelf.receive(column(version: 1), as: name(1))
    shelf.note(1_000, forWantOf: name(1))
    #expect(!shelf.isWanted(name(1), for: 100))
  }

  @Test("one that was given up has to be wanted twice as much, to a limit")
  func givingUp() {
    let shelf = ExtractShelf(limit: 1 << 20)
    for round in 0..<20 {
      shelf.keep(column(version: Int64(round)), as: name(1))
      shelf.giveUp(name(1))
      #expect(shelf.extract(name(1)) == nil)
      let needed = 100 * Double(min(64, 2 << round))
      shelf.note(needed - 1, forWantOf: name(1))
      #expect(!shelf.isWanted(name(1), for: 100), "round \(round)")
      shelf.note(1, forWantOf: name(1))
      #expect(shelf.isWanted(name(1), for: 100), "round \(round)")
    }
  }

  @Test("a newer column stays where an older one comes")
  func versions() {
    let shelf = ExtractShelf(limit: 1 << 20)
    shelf.keep(column(version: 5, key: 50), as: name(1))
    shelf.keep(column(version: 4, key: 40), as: name(1))
    #expect(shelf.extract(name(1))?.column?[1] == 50)
    shelf.keep(column(version: 6, key: 60), as: name(1))
    #expect(shelf.extract(name(1))?.column?[1] == 60)
  }

  @Test("what was not used for the longest time makes room")
  func room() {
    let size = column(version: 1).size
    let shelf = ExtractShelf(limit: 2 * size)
    shelf.keep(column(version: 1), as: name(1))
    shelf.keep(column(version: 1), as: name(2))
    #expect(shelf.counts.size == 2 * size)
    _ = shelf.extract(name(1))
    shelf.keep(column(version: 1), as: name(3))
    #expect(shelf.counts.size == 2 * size)
    #expect(shelf.extract(name(1)) != nil)
    #expect(shelf.extract(name(2)) == nil)
    #expect(shelf.extract(name(3)) != nil)
    // Nor is it made again at once.
    shelf.note(100, forWantOf: name(2))
    #expect(!shelf.isWanted(name(2), for: 100))
  }

  @Test("a column that is larger than all memory for them is not kept")
  func tooLarge() {
    let shelf = ExtractShelf(limit: 100)
    shelf.keep(column(version: 1), as: name(1))
    #expect(shelf.counts.size == 0)
  }
}
