internal import Concurrency
internal import Synchronization

/// The number of requests that the cloud is answering, and the tasks that wait until there are
/// none.
final class RequestsUnderWay: Sendable {
  private let requests = Mutex(0)
  private let none = AsyncCondition()
  var count: Int { requests.withLock { $0 } }

  func begin() { requests.withLock { $0 += 1 } }

  /// Counts a request that ends. If no other request is under way, resumes the waiting tasks.
  func end() {
    let isLast = requests.withLock { count in
      count -= 1
      return count == 0
    }
    if isLast { none.becomeTrue() }
  }

  func finished() async {
    while count > 0 { await none.wait { count == 0 } }
  }
}
