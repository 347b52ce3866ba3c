internal import WebServices

extension CKOperation {
  /// Reads an answer; what cannot be read is an internal error.
  func read<Response>(
    _ read: () throws(ServiceError) -> Response
  ) throws(CKError) -> Response {
    do throws(ServiceError) {
      return try read()
    } catch {
      throw CKError(unreadableAnswer: error)
    }
  }

  /// Pairs what was asked with what was answered, which the protocol puts in the same order.
  func pair<Item, Answer>(
    _ items: [Item], with answers: [Answer]
  ) throws(CKError) -> [(Item, Answer)] {
    guard items.count == answers.count else {
      throw CKError(
        .internalError,
        "the server answered for \(answers.count) items, \(items.count) were asked")
    }
    return Array(zip(items, answers))
  }
}
