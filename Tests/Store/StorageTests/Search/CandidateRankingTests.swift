import CloudKitModel
import PropertyTesting
import Testing

@testable import Storage

struct CandidateRankingTests {
  private static let keys: [SortKey] = [
    SortKey(.field("count")), SortKey(.field("count"), ascending: false),
    SortKey(.field("size")), SortKey(.field("size"), ascending: false),
    SortKey(.field("when"), ascending: false),
    SortKey(.field("place"), relativeLocation: Location(latitude: 10, longitude: 170)),
    SortKey(
      .field("place"), ascending: false, relativeLocation: Location(latitude: 0, longitude: 0)),
  ]

  private func column(_ key: SortKey, of records: [Record]) -> KeyColumn {
    var column = KeyColumn(version: 1)
    for (number, record) in records.enumerated() {
      column[Int64(number)] = record.value(for: key.key).flatMap { ValueKey.key(of: $0) }
        .map { IndexKey($0).head }
    }
    return column
  }

  @Test("it is that of the records", arguments: Seeds.some(10))
  func model(seed: Int) {
    var samples = QuerySamples(random: SeededGenerator(seed: seed))
    let records = (0..<50).map { number in
      var record = Record(recordID: RecordID(recordName: "r\(number)"), recordType: "Note")
      for (name, value) in samples.fields() { record.fields[name] = value }
      return record
    }
    for first in Self.keys {
      for second in [nil] + Self.keys.map(Optional.some) {
        let sortKeys = [first] + (second.map { [$0] } ?? [])
        let comment: Comment = "seed \(seed): \(sortKeys)"
        let order = RecordOrder(sortKeys: sortKeys)
        var ranking = CandidateRanking(by: first, column(first, of: records))
        if let second, ranking.mayGoOn { ranking.goOn(by: second, column(second, of: records)) }
        let ranked = records.enumerated().map { number, record in
          (order.place(of: record, number: Int64(number)), ranking.rank(of: Int64(number)))
        }
        for (place, rank) in ranked {
          #expect((place.values[0] == nil) == (rank == nil), comment)
          guard let rank, let told = ranking.rank(of: place) else { continue }
          #expect(
            !ranking.isSurelyBefore(rank, told) && !ranking.isSurelyBefore(told, rank), comment)
          for (otherPlace, otherRank) in ranked {
            guard let otherRank else { continue }
            if ranking.isSurelyBefore(rank, otherRank) {
              #expect(order.precedes(place, otherPlace), comment)
            }
            // The ranking distinguishes distances that differ by more than some metres.
            if place.values[0] != otherPlace.values[0], first.relativeLocation == nil {
              #expect(
                ranking.isSurelyBefore(rank, otherRank) == order.precedes(place, otherPlace),
                comment)
            }
          }
        }
      }
    }
  }
}
