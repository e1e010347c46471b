// front.js TARGET_PORT: HTTP/2 with prior knowledge, which is all that the daemon's client speaks to Kinesis, in front of a
// server that speaks HTTP/1.1. Prints its own port.
'use strict'
const http = require('http')
const http2 = require('http2')

const target = Number(process.argv[2])
const agent = new http.Agent({ keepAlive: true })
const hop = ['connection', 'transfer-encoding', 'keep-alive']

const server = http2.createServer((q, s) => {
  const headers = {}
  for (const [name, value] of Object.entries(q.headers)) if (!name.startsWith(':')) headers[name] = value
  headers.host = q.headers[':authority']
  const there = http.request({ port: target, host: '127.0.0.1', method: q.method, path: q.url, headers, agent }, a => {
    const back = {}
    for (const [name, value] of Object.entries(a.headers)) if (!hop.includes(name)) back[name] = value
    s.writeHead(a.statusCode, back)
    a.pipe(s)
  })
  there.on('error', () => s.stream.close())
  s.on('close', () => there.destroy())
  q.pipe(there)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
