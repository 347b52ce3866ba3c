import CloudKitModel
import CommandInterface
import Foundation
import WebServices

/// The requests of a load, each of which saves one record of a ``FeedWorkload``.
struct FeedRequests {
  let workload: FeedWorkload
  /// The path of `records/modify` with the caller's token.
  let path: String

  /// The number of requests. They are encoded before the load begins. The load sends them
  /// repeatedly, with new record names.
  static let count = 4_096

  func all() throws -> [LoadRequest] {
    try (0..<Self.count).map { number in
      let name = String(repeating: "0", count: LoadRequest.nameLength)
      let record = workload.record(number)
      let body = ModifyRecordsRequest(
        operations: [
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: name, zoneID: .default),
            recordType: record.recordType, fields: record.fields.mapValues { $0 })
        ], isAtomic: false
      ).body(context: MessageContext(ownerNaming: .explicit))
      let bytes = Array(body)
      guard let place = bytes.firstPlace(of: Array(name.utf8)) else {
        throw UsageError("the request has no space for a name")
      }
      return LoadRequest(path: path, body: bytes, names: [place])
    }
  }
}
