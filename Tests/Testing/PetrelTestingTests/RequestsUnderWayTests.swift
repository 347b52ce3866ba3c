import Testing

@testable import PetrelTesting

struct RequestsUnderWayTests {
  @Test("the wait ends with the last request")
  func waits() async {
    let requests = RequestsUnderWay()
    await requests.finished()
    requests.begin()
    requests.begin()
    async let finished: Void = requests.finished()
    requests.end()
    requests.begin()
    requests.end()
    requests.end()
    await finished
  }
}
