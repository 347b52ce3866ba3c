import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with Foundation's `URLSession`, with limits: 10 seconds, 256 KiB, no redirects, no
/// cookies.
public final class BoundedFetcher: HTTPFetching {
  private static let timeout = 10.0
  /// Bytes of an answer.
  private static let limit = 256 << 10

  private let receiver = Receiver()
  private let session: URLSession

  public init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = Self.timeout
    configuration.timeoutIntervalForResource = Self.timeout
    session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
  }

  deinit {
    session.finishTasksAndInvalidate()
  }

  public func fetch(
    _ url: String, form: String?, authorization: String?
  ) async throws(OpenIDError) -> FetchedAnswer {
    guard let target = URL(string: url) else {
      throw OpenIDError(.unreachable, "'\(url)' is no URL")
    }
    var request = URLRequest(url: target)
    request.timeoutInterval = Self.timeout
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    if let form {
      request.httpMethod = "POST"
      request.httpBody = Data(form.utf8)
      request.setValue(
        "application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    }
    if let authorization {
      request.setValue(authorization, forHTTPHeaderField: "Authorization")
    }
    let result = await withCheckedContinuation { continuation in
      let task = session.dataTask(with: request)
      receiver.add(
        Receiver.Exchange(url: url, limit: Self.limit) { continuation.resume(returning: $0) },
        for: task)
      task.resume()
    }
    return try result.get()
  }
}

/// Collects the answers of a session, each up to its limit.
private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
  struct Exchange: Sendable {
    var url: String
    var limit: Int
    var body = Data()
    var isTooLong = false
    var finish: @Sendable (Result<FetchedAnswer, OpenIDError>) -> Void

    init(
      url: String, limit: Int,
      finish: @escaping @Sendable (Result<FetchedAnswer, OpenIDError>) -> Void
    ) {
      self.url = url
      self.limit = limit
      self.finish = finish
    }
  }

  private let underWay = Mutex<[Int: Exchange]>([:])

  func add(_ exchange: Exchange, for task: URLSessionTask) {
    underWay.withLock { $0[task.taskIdentifier] = exchange }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = underWay.withLock { exchanges in
      guard var exchange = exchanges[dataTask.taskIdentifier] else { return false }
      exchange.isTooLong = exchange.body.count + data.count > exchange.limit
      if !exchange.isTooLong { exchange.body += data }
      exchanges[dataTask.taskIdentifier] = exchange
      return exchange.isTooLong
    }
    if isTooLong { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let exchange = underWay.withLock({ $0.removeValue(forKey: task.taskIdentifier) })
    else { return }
    if exchange.isTooLong {
      exchange.finish(
        .failure(
          OpenIDError(
            .badAnswer, "\(exchange.url) answered with more than \(exchange.limit) bytes")))
    } else if let response = task.response as? HTTPURLResponse, error == nil {
      exchange.finish(
        .success(
          FetchedAnswer(
            status: response.statusCode, body: exchange.body,
            date: response.value(forHTTPHeaderField: "Date"))))
    } else {
      let detail = error.map { ": \($0.localizedDescription)" } ?? ""
      exchange.finish(
        .failure(OpenIDError(.unreachable, "\(exchange.url) cannot be reached\(detail)")))
    }
  }
}
