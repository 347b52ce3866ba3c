import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct AssetOperationTests {
  /// The bytes of a fetched file, or the code of the record's error.
  private enum Outcome: Equatable {
    case success(Data)
    case failure(CKError.Code)
  }

  private static func record(_ name: String, asset: String?) -> Record {
    var record = Record(
      recordID: RecordID(recordName: name), recordType: "T", recordChangeTag: "a")
    record.fields["file"] = asset.map {
      .asset(Asset(fileChecksum: "c", size: 3, downloadURL: "http://petrel.test/\($0)"))
    }
    return record
  }

  /// Answers a lookup with these records, and what follows with `transfer`.
  private static func fetching(
    _ records: [Record], transfer: @escaping @Sendable (URL) -> ScriptedTransport.Outcome
  ) -> ScriptedTransport {
    ScriptedTransport { request, _ in
      if case .asset(let url) = request.target { return transfer(url) }
      return .ok(
        RecordsResponse(records: records.map { .success(.record($0)) })
          .body(context: serverContext))
    }
  }

  private static func fetch(
    _ names: [String], over transport: ScriptedTransport
  ) -> (CKFetchRecordsOperation, Guarded<[String: Outcome]>) {
    let operation = CKFetchRecordsOperation(
      recordIDs: names.map { CKRecord.ID(recordName: $0) })
    operation.database = CKContainer.scripted(transport).privateCloudDatabase
    let results = Guarded<[String: Outcome]>([:])
    operation.perRecordResultBlock = { id, result in
      let outcome: Outcome
      switch result {
      case .success(let record):
        let url = (record["file"] as? CKAsset)?.fileURL
        outcome = .success(url.flatMap { try? Data(contentsOf: $0) } ?? Data())
      case .failure(let error):
        outcome = .failure((error as? CKError)?.code ?? .internalError)
      }
      results.withLock { $0[id.recordName] = outcome }
    }
    return (operation, results)
  }

  @Test("A file that the server has no more fails its record alone")
  func goneFile() {
    let records = [
      Self.record("a", asset: "gone"), Self.record("b", asset: "there"),
      Self.record("c", asset: nil),
    ]
    let transport = Self.fetching(records) { url in
      url.lastPathComponent == "there"
        ? .ok(Data("abc".utf8)) : .error(ServiceError(.notFound, "gone"))
    }
    let (operation, results) = Self.fetch(["a", "b", "c"], over: transport)
    operation.runToEnd()
    #expect(
      results.current == [
        "a": .failure(.assetNotAvailable), "b": .success(Data("abc".utf8)), "c": .success(Data()),
      ])
  }

  @Test("A network that fails in the middle of a download ends the operation")
  func brokenDownload() {
    let transport = Self.fetching([Self.record("a", asset: "x")]) { _ in
      .failure(TransportFailure(.timedOut, "nothing came"))
    }
    let (operation, results) = Self.fetch(["a"], over: transport)
    let error = Guarded<CKError.Code?>(nil)
    operation.fetchRecordsResultBlock = { result in
      if case .failure(let failure) = result {
        error.withLock { $0 = (failure as? CKError)?.code }
      }
    }
    operation.runToEnd()
    #expect(error.current == .networkFailure)
    #expect(results.current.isEmpty)
  }

  @Test("An operation that is patient tries a download again")
  func patience() {
    let attempts = Guarded(0)
    let transport = Self.fetching([Self.record("a", asset: "x")]) { _ in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt < 3
        ? .error(ServiceError(.tryAgainLater, "busy", retryAfter: 0.01)) : .ok(Data("abc".utf8))
    }
    let (operation, results) = Self.fetch(["a"], over: transport)
    operation.qualityOfService = .utility
    operation.runToEnd()
    #expect(results.current == ["a": .success(Data("abc".utf8))])
    #expect(attempts.current == 3)
  }

  @Test("A transfer that hangs is cancelled with its operation, and ends at its resource timeout")
  func hanging() {
    for cancels in [true, false] {
      let begun = DispatchSemaphore(value: 0)
      let transport = Self.fetching([Self.record("a", asset: "x")]) { _ in
        begun.signal()
        return .silence
      }
      let (operation, _) = Self.fetch(["a"], over: transport)
      if !cancels { operation.configuration.timeoutIntervalForResource = 0.05 }
      let error = Guarded<CKError.Code?>(nil)
      operation.fetchRecordsResultBlock = { result in
        if case .failure(let failure) = result {
          error.withLock { $0 = (failure as? CKError)?.code }
        }
      }
      operation.start()
      if cancels {
        begun.wait()
        operation.cancel()
      }
      operation.waitUntilFinished()
      #expect(error.current == (cancels ? .operationCancelled : .networkFailure))
    }
  }
}
