/// The clients of the containers whose configuration is the ambient one. All containers of an identifier
/// share a client, and so the user who is signed in and the reader of the web courier.
enum AmbientClients {
  /// A client that lives as long as a container uses it.
  private struct WeakClient {
    weak var client: WebServicesClient?
  }

  private static let clients = Locked<[String: WeakClient]>([:])

  /// Returns the client of a container, or `badContainer` when the identifier or the URL is invalid.
  static func client(
    _ identifier: String, _ configuration: PetrelConfiguration
  ) -> Result<WebServicesClient, CKError> {
    clients.withLock { clients in
      if let client = clients[identifier]?.client { return .success(client) }
      let client = CKContainer.client(identifier, configuration, transport: nil)
      clients = clients.filter { $0.value.client != nil }
      clients[identifier] = client.value.map { WeakClient(client: $0) }
      return client
    }
  }
}
