import CloudKitModel
import CommandInterface
import Foundation
import Storage
import StoreModel

/// The records of the query benchmark. All have the same type, and are in the public database.
/// Their fields are the same in each run.
struct QueryRecords {
  static let recordType = "Reading"
  var count: Int

  /// Returns the fields of a record. The number of different values of each field is known, so the
  /// fraction of the records that match a query is known too.
  ///
  /// - `rank`: each number below ``count`` in one record, in scattered order
  /// - `hundredth`: one of 100 strings; the ranks are divided into 100 equal ranges, and the string
  ///   names the range of the record's rank
  /// - `status`: one of 10 numbers
  /// - `kind`: one of 70 strings
  /// - `owner`: one of 1,000 strings
  /// - `tags`: a list with two of 200 strings
  /// - `note`: a text of 6 words; the word with the number *n* is in about 0.7/*n* of the records
  /// - `place`: a pseudorandom place on the earth
  func fields(_ number: Int) -> RecordFields<RecordValue?> {
    let rank = rank(number)
    func draw(_ salt: UInt64, _ bound: Int) -> Int {
      Int(SplitMix64.bits(of: UInt64(number) &* 31 &+ salt) % UInt64(bound))
    }
    let words = (0..<6).map { word in
      // The word with the number 2*n* occurs half as often as the word with the number *n*.
      "word\(Int(pow(5_000, Double(draw(100 + UInt64(word), 10_000)) / 10_000)))"
    }
    let place = Location(
      latitude: asin(Double(draw(6, 2_000_001)) / 1_000_000 - 1) * 180 / .pi,
      longitude: Double(draw(7, 3_600_000)) / 10_000 - 180)
    return [
      "rank": .int64(Int64(rank)),
      "hundredth": .string("h\(rank * 100 / count)"),
      "status": .int64(Int64(draw(1, 10))),
      "kind": .string("kind\(draw(2, 70))"),
      "owner": .string("owner\(draw(3, 1_000))"),
      "tags": .list(of: .string, [.string("tag\(draw(4, 200))"), .string("tag\(draw(5, 200))")]),
      "note": .string(words.joined(separator: " ")),
      "place": .location(place),
    ]
  }

  /// Returns the rank of a record: its number multiplied by a step, modulo ``count``. Each rank
  /// occurs once, because the step and the count have no common divisor above 1.
  private func rank(_ number: Int) -> Int {
    var step = Int(Double(count) * 0.618) | 1
    while Self.greatestDivisor(step, count) > 1 { step += 2 }
    return number * step % count
  }

  private static func greatestDivisor(_ left: Int, _ right: Int) -> Int {
    right == 0 ? left : greatestDivisor(right, left % right)
  }

  /// Saves the records that are missing in the store, in the order of their numbers and without
  /// HTTP.
  func fill(
    _ store: Store,
    _ report: BenchmarkReport
  ) async throws {
    let address = DatabaseAddress(
      container: EarthquakeRequests.container, environment: .development, scope: .public,
      owner: nil)
    let database = try await store.databases.database(at: address)
    var next = try await firstMissing(in: database, of: store.records)
    let start = monotonicSeconds()
    let first = next
    while next < count {
      let numbers = next..<min(next + ServiceLimits.operationsPerRequest, count)
      let operations = numbers.map { number in
        RecordOperation(
          kind: .create, recordID: RecordID(recordName: Self.name(number)),
          recordType: Self.recordType, fields: fields(number))
      }
      let outcomes = try await store.records.modifyRecords(
        RecordModification(
          database: database, operations: operations, isAtomic: false,
          origin: ChangeOrigin(userRecordName: "_bench", deviceID: nil),
          isByAdministrator: true, timestamp: .now))
      for case .failed(let failure) in outcomes {
        throw UsageError("a record was refused: \(failure.reason)")
      }
      // There are no subscriptions, so the changes cause no notifications. They must be marked as
      // dispatched nevertheless; otherwise the server would process them later.
      let changes = try await store.outbox.undispatchedChanges(
        in: .whole(database), after: 0, limit: operations.count)
      _ = try await store.outbox.completeDispatch(
        of: changes.map { MatchedChange(entry: $0, firings: []) }, timestamp: .now)
      next = numbers.upperBound
      if next % 100_000 < ServiceLimits.operationsPerRequest {
        let rate = Double(next - first) / (monotonicSeconds() - start)
        report.line("\(next) of \(count) records are saved, \(Int(rate)) a second")
      }
    }
  }

  static func name(_ number: Int) -> String { "reading-\(number)" }

  /// Returns the number of the first record that is missing in the store. The records were saved in
  /// the order of their numbers, so a binary search finds it.
  private func firstMissing(
    in database: DatabaseID, of store: RecordService
  ) async throws -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let found = try await store.records(
        [RecordID(recordName: Self.name(middle))], in: database)
      if found.first == .some(nil) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
