internal import CloudKit
internal import CloudKitModel
internal import HTTPService
internal import PetrelServer
internal import Synchronization
internal import WebServices

extension TestCloud {
  /// Returns the answer to a device's request, or the failure that the device sees. If a fault
  /// applies to the request, the fault decides the answer.
  func answer(
    _ request: HTTPRequest, to sender: InProcessTransport
  ) async -> Result<TransportResponse, TransportFailure> {
    if hasStopped {
      return .failure(TransportFailure(.unreachable, "the TestCloud was stopped"))
    }
    do {
      try await accounts.ready()
    } catch {
      return .failure(TransportFailure(.unreachable, "the TestCloud has failed: \(error)"))
    }
    if sender.meetsFaults, let struck = takeFault(for: request, of: sender) {
      return await answer(request, to: sender, with: struck)
    }
    return await respond(to: request)
  }

  /// A fault that applies to a request, with the parsed request.
  private struct Struck {
    var fault: TestFault
    var saves: RecordSaves?
    /// The request, if it continues from a change token; otherwise nil.
    var feed: FeedReading?
  }

  /// The fault then applies one time less.
  private func takeFault(for request: HTTPRequest, of sender: InProcessTransport) -> Struck? {
    faults.withLock { plan in
      if plan.count == 0 { return nil }
      let userRecordName = sender.user.flatMap { accounts.names.recordName(of: $0) }
      let saves = RecordSaves(request, userRecordName: userRecordName)
      let feed = FeedReading(request, userRecordName: userRecordName)
      let target = FaultPlan<TestFault>.Target(
        user: sender.user, device: sender.device, operation: TestOperation(request))
      let fault = plan.take(for: target) { fault in
        switch fault.kind {
        case .networkLoss, .answerLost, .refusal: true
        case .quotaExceeded: saves?.savesRecords ?? false
        case .conflict: saves?.canConflict ?? false
        case .changeTokenExpired: feed != nil
        }
      }
      return fault.map { Struck(fault: $0, saves: saves, feed: feed) }
    }
  }

  private func answer(
    _ request: HTTPRequest, to sender: InProcessTransport, with struck: Struck
  ) async -> Result<TransportResponse, TransportFailure> {
    switch struck.fault.kind {
    case .networkLoss:
      return .failure(TransportFailure(.offline, "the test has switched the network off"))
    case .answerLost:
      _ = await respond(to: request)
      return .failure(TransportFailure(.answerLost, "the test has broken the connection"))
    case .refusal(let code, let retryAfter):
      return await transported(
        HTTPResponse(ServiceError(code, "the test asked for this error", retryAfter: retryAfter)))
    case .quotaExceeded:
      let body = struck.saves?.refusal(.quotaExceeded, "the user's storage is full") ?? Data()
      return await transported(HTTPResponse(body: .data(body)))
    case .conflict(let change):
      do {
        try await struck.saves?.interfere(as: otherContainer(than: sender, for: request), change)
      } catch {
        return await transported(
          HTTPResponse(
            ServiceError(.internalError, "the other device could not save its change: \(error)")))
      }
      return await respond(to: request)
    case .changeTokenExpired:
      guard let feed = struck.feed else { return await respond(to: request) }
      return await transported(await feed.answer(from: service))
    }
  }

  /// Returns the container that a request names, as another device of the same user sees it. Faults
  /// do not apply to the requests of that device.
  private func otherContainer(
    than sender: InProcessTransport, for request: HTTPRequest
  ) -> CKContainer {
    let device = "another device than \(sender.device)"
    // For a path that cannot be parsed, the configured container serves; the service then refuses
    // the request.
    let identifier = (try? ServicePath(parsing: request.path))?.container
    return container(
      user: sender.user, device: device,
      identifier: identifier ?? configuration.containerIdentifier,
      transport: InProcessTransport(
        cloud: self, user: sender.user, device: device, meetsFaults: false))
  }

  // MARK: The service's answers

  private func respond(
    to request: HTTPRequest
  ) async -> Result<TransportResponse, TransportFailure> {
    await transported(await service.respond(to: request))
  }

  private func transported(
    _ response: HTTPResponse
  ) async -> Result<TransportResponse, TransportFailure> {
    do {
      return .success(
        TransportResponse(
          status: response.status,
          headers: Dictionary(response.headers, uniquingKeysWith: { $1 }),
          body: try await response.body.collected()))
    } catch {
      return .failure(TransportFailure(.answerLost, "the answer broke off: \(error)"))
    }
  }
}

extension TestOperation {
  /// Creates the operation of a request.
  init(_ request: HTTPRequest) {
    if let path = try? ServicePath(parsing: request.path) {
      self.init(rawValue: path.operation)
    } else if request.path.hasPrefix("/assets/") {
      self = request.method == "POST" ? .uploadAsset : .downloadAsset
    } else {
      self.init(rawValue: String(request.path.drop { $0 == "/" }))
    }
  }
}

extension HTTPBody {
  /// Returns the whole body. Throws the error of the server if it fails while it writes a body
  /// piece by piece.
  fileprivate func collected() async throws -> Data {
    switch self {
    case .data(let data):
      return data
    case .stream(let write), .streamOfLength(_, let write):
      let collected = Mutex(Data())
      try await write(HTTPStreamWriter { chunk in collected.withLock { $0.append(chunk) } })
      return collected.withLock { $0 }
    }
  }
}
