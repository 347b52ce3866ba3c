extension WebServicesTransport {
  /// Transfers a whole file in one request, in memory. A transport that does not implement this
  /// method uses this implementation.
  ///
  /// The progress counts the bytes that are read from or written to the file, not those on the
  /// network.
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
              // The download has failed already. A file that cannot be removed stays in the
              // temporary directory.
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

/// The functions that read and write files in parts. They report the progress after each part.
private enum FilePieces {
  static let size = 256 << 10

  static func read(_ file: URL, progress: (Int64) -> Void) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    // All bytes were read, so a failed close loses nothing.
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
    // All bytes were written, so a failed close loses nothing.
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
