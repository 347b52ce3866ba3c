internal import CloudKitModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTransport {
  /// Transfers the bytes of an asset from or to a file. A download is written to the file in parts.
  /// An upload is read into memory, unless the file is larger than `ServiceLimits.assetSize`.
  package func transfer(
    _ transfer: AssetTransfer, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    var request = URLRequest(url: transfer.url)
    request.timeoutInterval = max(1, transfer.timeout.rounded(.up))
    let state: FileTransfer
    let task: URLSessionTask
    switch transfer.direction {
    case .upload(let file):
      guard FileManager.default.isReadableFile(atPath: file.path) else {
        completion(
          .failure(
            TransportFailure(.unreadableFile, "\(file.path) is not a file that can be read")))
        return {}
      }
      request.httpMethod = "POST"
      request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
      state = FileTransfer(target: nil, progress: progress, completion: completion)
      task = Self.uploadTask(with: request, file: file)
    case .download(let file):
      state = FileTransfer(target: file, progress: progress, completion: completion)
      task = Self.transfers.dataTask(with: request)
    }
    Self.delegate.add(state, for: task)
    task.resume()
    return { task.cancel() }
  }

  // On Linux, Foundation reads the file of an upload on a queue of its own. If the upload is
  // cancelled meanwhile, Foundation crashes the program after the next part. Therefore the task
  // gets the bytes themselves, unless they are more than a server accepts.
  private static func uploadTask(with request: URLRequest, file: URL) -> URLSessionUploadTask {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    if let size = (attributes?[.size] as? NSNumber)?.intValue, size <= ServiceLimits.assetSize,
      // If the file cannot be read, the task below fails with the reason.
      let bytes = try? Data(contentsOf: file)
    {
      return transfers.uploadTask(with: request, from: bytes)
    }
    return transfers.uploadTask(with: request, fromFile: file)
  }

  /// The delegate of the session for files.
  private static let delegate = FileTransferDelegate()

  /// The session for files, which is not used for requests.
  private static let transfers = session(connectionsPerHost: 8, delegate: delegate)
}

/// A transfer in progress.
///
/// Unchecked: after its initializer, only the session's delegate queue uses the object.
private final class FileTransfer: @unchecked Sendable {
  let target: URL?
  let progress: @Sendable (Int64) -> Void
  let completion: @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  /// The body of an answer that is not written to the file: the answer to an upload, or an error.
  var body = Data()
  var file: FileHandle?
  var received: Int64 = 0
  /// A failure that the session does not report, such as a full disk.
  var failure: TransportFailure?

  init(
    target: URL?, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) {
    self.target = target
    self.progress = progress
    self.completion = completion
  }

  func begin(_ response: URLResponse) throws {
    guard let target, let response = response as? HTTPURLResponse,
      (200..<300).contains(response.statusCode)
    else { return }
    file = try PrivateFile.make(at: target.path)
  }

  func receive(_ data: Data) throws {
    guard let file else {
      body.append(data)
      return
    }
    try file.write(contentsOf: data)
    received += Int64(data.count)
    progress(received)
  }

  /// Closes the file and reports the result. Deletes the file of a failed download.
  func finish(_ result: Result<TransportResponse, TransportFailure>) {
    if let file {
      // All bytes were written, so a failed close loses nothing.
      try? file.close()
      if case .failure = result, let target {
        // The transfer has failed already. A file that cannot be removed stays in its folder.
        try? FileManager.default.removeItem(at: target)
      }
    }
    completion(result)
  }
}

/// The delegate of the session for files. It passes each event to the transfer to which the event
/// belongs.
private final class FileTransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private let underWay = Locked<[Int: FileTransfer]>([:])

  /// Registers the transfer of a task. Call this method before the task starts.
  func add(_ transfer: FileTransfer, for task: URLSessionTask) {
    underWay.withLock { $0[task.taskIdentifier] = transfer }
  }

  private func transfer(of task: URLSessionTask) -> FileTransfer? {
    underWay.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    transfer(of: task)?.progress(totalBytesSent)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    perform(for: dataTask) { try $0.begin(response) }
    completionHandler(.allow)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
  ) {
    perform(for: dataTask) { try $0.receive(data) }
  }

  /// If the file cannot be written, the transfer ends with `unwritableFile`.
  private func perform(for task: URLSessionTask, _ work: (FileTransfer) throws -> Void) {
    guard let transfer = transfer(of: task), transfer.failure == nil else { return }
    do {
      try work(transfer)
    } catch {
      transfer.failure = TransportFailure(
        .unwritableFile, "\(transfer.target?.path ?? "the answer") cannot be written: \(error)")
      task.cancel()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let transfer = underWay.withLock({ $0.removeValue(forKey: task.taskIdentifier) })
    else { return }
    if let failure = transfer.failure {
      transfer.finish(.failure(failure))
    } else if let response = task.response as? HTTPURLResponse, error == nil {
      transfer.finish(.success(TransportResponse(response, body: transfer.body)))
    } else {
      transfer.finish(.failure(TransportFailure(error, url: task.originalRequest?.url)))
    }
  }
}
