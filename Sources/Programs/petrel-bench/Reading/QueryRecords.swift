import CloudKitModel
import CommandInterface
import Foundation
import StoreModel

/// The records of the query benchmark. All have one type and are in the public database. They are
/// the same in each run.
struct QueryRecords {
  /// The record type.
  static let recordType = "Reading"

  /// The number of records.
  var count: Int

  /// Returns the fields of a record. Queries by these fields match known fractions of the records.
  ///
  /// - `rank`: each number below ``count`` once, in scattered order
  /// - `hundredth`: 100 strings, the hundredth of the ranks that contains the record's rank
  /// - `status`: 10 numbers
  /// - `kind`: 70 strings
  /// - `owner`: 1,000 strings
  /// - `tags`: 2 of 200 strings
  /// - `note`: a text of 6 words; the word with the number n is in about 1/n of the records
  /// - `place`: a random place on the earth
  func fields(_ number: Int) -> RecordFields<RecordValue?> {
    let rank = rank(number)
    func draw(_ salt: UInt64, _ bound: Int) -> Int {
      Int(SplitMix64.bits(of: UInt64(number) &* 31 &+ salt) % UInt64(bound))
    }
    let words = (0..<6).map { word in
      // A word with twice the number occurs half as often.
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

  /// Returns the rank of a record. Ranks are a permutation of the numbers below ``count``, because
  /// the step and the count have no common divisor.
  private func rank(_ number: Int) -> Int {
    var step = Int(Double(count) * 0.618) | 1
    while Self.greatestDivisor(step, count) > 1 { step += 2 }
    return number * step % count
  }

  /// Returns the greatest common divisor.
  private static func greatestDivisor(_ left: Int, _ right: Int) -> Int {
    right == 0 ? left : greatestDivisor(right, left % right)
  }

  /// Saves the records that the store lacks, in order and past HTTP.
  ///
  /// - Throws: `UsageError` if the store refuses a record.
  func fill(
    _ store: any Store,
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
      // There are no subscriptions, so nothing fires; the changes only have to be marked as
      // dispatched.
      let changes = try await store.outbox.undispatchedChanges(
        in: database, after: 0, limit: operations.count)
      _ = try await store.outbox.completeDispatch(
        of: changes.map { MatchedChange(entry: $0, firings: []) }, timestamp: .now)
      next = numbers.upperBound
      if next % 100_000 < ServiceLimits.operationsPerRequest {
        let rate = Double(next - first) / (monotonicSeconds() - start)
        report.line("\(next) of \(count) records are saved, \(Int(rate)) a second")
      }
    }
  }

  /// Returns the record name of a number.
  static func name(_ number: Int) -> String { "reading-\(number)" }

  /// Returns the number of the first record that the store lacks. Records are saved in order, so a
  /// binary search finds it.
  private func firstMissing(
    in database: DatabaseID, of store: any RecordReading
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
