import AdminAPI
import Configuration
import Foundation
import HTTPService
import Storage
import StoreModel
import Synchronization

/// The admin API on a store that this process has open. It needs no admin key.
struct LocalAdminAccess: AdminAccess {
  /// The maintenance of the store, for work that a server would do in the background.
  let maintenance: MaintenanceService
  let isServed: Bool
  private let administration: LocalAdministration

  init(store: Store, isServed: Bool, configuration: ServerConfiguration) {
    maintenance = store.maintenance
    self.isServed = isServed
    administration = LocalAdministration(store: store, configuration: configuration)
  }

  func answer(to call: AdminCall) async throws -> (status: Int, body: Data) {
    try await answer(
      to: HTTPRequest(
        method: call.method.rawValue, target: LocalAdministration.path + call.target,
        body: call.body))
  }

  func transfer(_ file: AssetTransfer) async throws -> (status: Int, body: Data) {
    switch file {
    case .upload(let data, _):
      try await answer(to: HTTPRequest(method: "POST", target: file.path, body: data))
    case .download:
      try await answer(to: HTTPRequest(method: "GET", target: file.path))
    }
  }

  /// Answers a request. If the answer is a stream, the method collects it in memory.
  private func answer(to request: HTTPRequest) async throws -> (status: Int, body: Data) {
    let response = await administration.respond(to: request)
    switch response.body {
    case .data(let data): return (response.status, data)
    case .stream(let write), .streamOfLength(_, let write):
      let gathered = Mutex(Data())
      try await write(HTTPStreamWriter { piece in gathered.withLock { $0 += piece } })
      return (response.status, gathered.withLock { $0 })
    }
  }

  func remark(on failure: AdminFailure) -> String? { nil }
}
