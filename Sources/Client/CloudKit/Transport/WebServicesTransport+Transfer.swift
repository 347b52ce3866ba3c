extension WebServicesTransport {
  /// Carries the whole file in the memory of one request.
  package func transfer(
    _ transfer: AssetTransfer, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    var request = TransportRequest(
      method: .get, target: .asset(transfer.url), body: nil, timeout: transfer.timeout)
    switch transfer.direction {
    case .upload(let file):
      let bytes: Data
      do {
        bytes = try FilePieces.read(file, progress: progress)
      } catch {
        completion(.failure(TransportFailure(.unreadableFile, "\(file.path): \(error)")))
        return {}
      }
      request.method = .post
      request.body = bytes
      return send(request, completion: completion)
    case .download(let file):
      return send(request) { result in
        completion(
          result.flatMap { response in
            guard (200..<300).contains(response.status) else { return .success(response) }
            do {
              try FilePieces.write(response.body, to: file, progress: progress)
            } catch {
              // The download has failed already; what stays lies in the temporary directory.
              try? FileManager.default.removeItem(at: file)
              return .failure(TransportFailure(.unwritableFile, "\(file.path): \(error)"))
            }
            var response = response
            response.body = Data()
            return .success(response)
          })
      }
    }
  }
}

/// Reads and writes files a piece at a time, so that progress can be told.
private enum FilePieces {
  static let size = 256 << 10

  static func read(_ file: URL, progress: (Int64) -> Void) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    // All was read or written: a failure to close loses nothing.
    defer { try? handle.close() }
    var bytes = Data()
    while let piece = try handle.read(upToCount: size), !piece.isEmpty {
      bytes.append(piece)
      progress(Int64(bytes.count))
    }
    return bytes
  }

  static func write(_ bytes: Data, to file: URL, progress: (Int64) -> Void) throws {
    let handle = try PrivateFile.make(at: file.path)
    // All was read or written: a failure to close loses nothing.
    defer { try? handle.close() }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(size)
      try handle.write(contentsOf: piece)
      rest = rest.dropFirst(piece.count)
      progress(Int64(bytes.count - rest.count))
    }
  }
}
