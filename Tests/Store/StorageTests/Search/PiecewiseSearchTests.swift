import Testing

@testable import Storage

struct PiecewiseSearchTests {
  private struct Case: CustomStringConvertible {
    var rows: Int
    var budget: Int
    var piece: Int
    var limit: Int

    var description: String { "\(rows) rows, \(budget), \(piece), \(limit)" }
  }

  /// Every third row is wanted.
  private func search(
    _ tried: Case, from place: Int, reading: (Int) -> Void = { _ in }
  ) -> (found: [Int], next: Int?) {
    PiecewiseSearch(budget: tried.budget, pieceSize: tried.piece, limit: tried.limit).walk(
      from: place
    ) { place, count in
      let rows = Array((place..<tried.rows).prefix(count))
      reading(rows.count)
      return rows
    } place: {
      $0 + 1
    } wanted: {
      $0 % 3 == 0 ? $0 : nil
    }
  }

  @Test("page after page all that is wanted is found once, and no call reads more than it may")
  func pages() {
    for rows in 0...13 {
      for budget in 1...7 {
        for piece in 1...8 {
          for limit in 1...4 {
            let tried = Case(rows: rows, budget: budget, piece: piece, limit: limit)
            var found: [Int] = []
            var place: Int? = 0
            var calls = 0
            while let start = place, calls <= rows + 1 {
              var read = 0
              let page = search(tried, from: start) { read += $0 }
              #expect(read <= budget && page.found.count <= limit, "\(tried)")
              found += page.found
              place = page.next
              calls += 1
            }
            #expect(place == nil, "\(tried) has no end")
            #expect(found == (0..<rows).filter { $0 % 3 == 0 }, "\(tried)")
          }
        }
      }
    }
  }
}
